/* stoker_op.h: ops of your own for Stoker's servers, in C.
 *
 * A shared object with such ops exports the one function stoker_op_library, below, which lists them. An operator names
 * the file in a server's configuration, `ops: [libfog.so]`, or by `stokerd serve --ops libfog.so`; a client can only
 * name the ops that it has: `- fog: {amount: 0.2}`. stoker_op.hpp is the same for C++, and shorter. docs/own-ops.md
 * teaches both.
 *
 * An op is a pure function of an image, its arguments and its random numbers. It must make the same bytes of them on
 * each server, whatever the thread, the time and what it did before: a job's epochs are the same only then. A server
 * tries that out when it starts, and tells a hash of what the op made of its images; servers whose hashes differ do not
 * serve one job.
 *
 * Ops run in the server's process, by many threads at once. They must not throw, exit, or keep the pointers they are
 * given.
 */
#ifndef STOKER_SERVER_PLUGIN_STOKER_OP_H_
#define STOKER_SERVER_PLUGIN_STOKER_OP_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of what this file says. A server loads libraries of its own version alone. */
#define STOKER_OP_ABI 1

enum stoker_op_type {
  STOKER_OP_NUMBER = 1,  /* double, finite */
  STOKER_OP_INTEGER = 2, /* int64_t */
  STOKER_OP_BOOLEAN = 3, /* int64_t, 0 or 1 */
  STOKER_OP_TEXT = 4,    /* const char *, UTF-8 that ends with a zero */
  STOKER_OP_FIELD = 5    /* a field of the sample, by its name, which a pipeline does not give */
};

enum stoker_op_dtype {
  STOKER_OP_UINT8 = 1,
  STOKER_OP_INT16 = 2,
  STOKER_OP_INT32 = 3,
  STOKER_OP_INT64 = 4,
  STOKER_OP_FLOAT16 = 5,
  STOKER_OP_BFLOAT16 = 6,
  STOKER_OP_FLOAT32 = 7,
  STOKER_OP_FLOAT64 = 8
};

/* What a sample has in a field: numbers, as the dataset has them, row after row without gaps. Where samples differ in
 * size, as texts and ragged fields do, the first of the shape is the number of rows, which may be 0. */
struct stoker_op_field {
  int32_t dtype; /* of stoker_op_dtype */
  size_t dimensions;
  const int64_t* shape;
  const void* data;
};

/* The value of an argument: the member that its type names. A text or a field lives as long as the call. */
union stoker_op_value {
  double number;
  int64_t integer;
  const char* text;
  const struct stoker_op_field* field;
};

/* One argument. A user who does not give it gets `otherwise`, unless it is required. The server's trial at its start
 * takes `otherwise` for all, so that it must be a value that the op can work with. That of a field is an example, too:
 * jobs whose dataset has no such field, or one of another dtype or number of dimensions, are refused. `check` and
 * `size`, below, are given the example. Fields that go through ops, such as images, masks and boxes, are not seen. */
struct stoker_op_argument {
  const char* name; /* as in Python: letters, digits and underscores */
  int32_t type;     /* of stoker_op_type */
  int32_t required; /* 1, or 0 */
  union stoker_op_value otherwise;
};

/* An image: height × width pixels of three bytes, red, green and blue, row after row without gaps. */
struct stoker_op_image {
  int64_t height, width;
  uint8_t* pixels;
};

/* The random numbers of one op for one sample. They follow from the job's seed, the epoch, the sample's position and
 * the op's place in the pipeline, and from nothing else. Pass it on as it is. */
struct stoker_op_draws {
  uint32_t (*bits)(struct stoker_op_draws* draws); /* 32 uniform bits */
  double (*uniform)(struct stoker_op_draws* draws, double low,
                    double high);                                   /* in [low, high]; low, where it is above high */
  uint64_t (*below)(struct stoker_op_draws* draws, uint64_t bound); /* in [0, bound); 0, where that is 0 */
  void (*fill)(struct stoker_op_draws* draws, uint32_t* words, size_t count); /* as many times bits(), faster */
};

enum stoker_op_result {
  STOKER_OP_OK = 0,
  STOKER_OP_BAD_SAMPLE = 1, /* This sample cannot be used; the pipeline's bad_samples says what becomes of it. */
  STOKER_OP_FAILED = 2      /* The machine or the op is at fault; another server is asked. */
};

/* One op. Everything it points to lives as long as the process. */
struct stoker_op {
  const char* name;    /* what a pipeline calls it: lower case letters, digits and underscores; none of Stoker's own */
  uint32_t version;    /* from 1 on. Raise it whenever the op may make other bytes. */
  const char* summary; /* one line, for `stoker list` */
  const struct stoker_op_argument* arguments;
  size_t argument_count;

  /* Checks arguments when a job begins. NULL: any will do. Returns NULL, or what is wrong, as text that lives on. */
  const char* (*check)(const union stoker_op_value* arguments);

  /* Sets the size of what the op makes of an image of height × width. NULL: the op keeps the size. The size depends on
   * nothing else. Fields that lie on the image, such as masks, cannot follow an op that changes the size. */
  void (*size)(const union stoker_op_value* arguments, int64_t* height, int64_t* width);

  /* Makes `out`, whose size is set, of `in`, which it leaves as it is. `arguments` are in the order of the list above.
   * On a result other than STOKER_OP_OK it may write why to `why`, `why_bytes` of room, with a zero at the end. */
  int32_t (*apply)(const union stoker_op_value* arguments, struct stoker_op_draws* draws,
                   const struct stoker_op_image* in, struct stoker_op_image* out, char* why, size_t why_bytes);
};

struct stoker_op_table {
  uint32_t abi; /* STOKER_OP_ABI */
  const struct stoker_op* ops;
  size_t op_count;
};

/* What a library defines and exports. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct stoker_op_table*
stoker_op_library(void);

#ifdef __cplusplus
}
#endif

#endif /* STOKER_SERVER_PLUGIN_STOKER_OP_H_ */
