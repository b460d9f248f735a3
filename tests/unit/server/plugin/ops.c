/* Ops for tests. FAULT_… says what is wrong with this library. */
#include <stdio.h>
#include <string.h>

#include "server/plugin/stoker_op.h"

__attribute__((unused)) static const char *check(const union stoker_op_value *arguments) {
  return arguments[1].integer < 256 ? NULL : "level must be below 256";
}

/* Adds `level` to each byte, and with `noise` a drawn byte too. */
__attribute__((unused)) static int32_t shift(const union stoker_op_value *arguments, struct stoker_op_draws *draws,
                     const struct stoker_op_image *in, struct stoker_op_image *out, char *why, size_t why_bytes) {
  static int calls;
  int64_t i;
  if (strcmp(arguments[3].text, "bad") == 0) {
    snprintf(why, why_bytes, "a bad sample of height %d", (int)in->height);
    return STOKER_OP_BAD_SAMPLE;
  }
  if (strcmp(arguments[3].text, "broken") == 0) return STOKER_OP_FAILED;
  if (strcmp(arguments[3].text, "bytes") == 0) {
    snprintf(why, why_bytes, "no text: \xff");
    return STOKER_OP_BAD_SAMPLE;
  }
  if (strcmp(arguments[3].text, "bounds") == 0)
    return draws->uniform(draws, 1, 0) == 1 && draws->below(draws, 0) == 0 ? STOKER_OP_BAD_SAMPLE : STOKER_OP_FAILED;
  for (i = 0; i < 3 * in->height * in->width; ++i) {
    out->pixels[i] = (uint8_t)(in->pixels[i] + arguments[1].integer);
    if (arguments[2].integer) out->pixels[i] = (uint8_t)(out->pixels[i] + draws->below(draws, 256));
  }
#if defined(FAULT_BEYOND)
  out->pixels[i] = 1;
#endif
#if defined(FAULT_CHANGING)
  out->pixels[0] = (uint8_t)++calls;
#elif defined(FAULT_INPUT)
  in->pixels[0] = (uint8_t)++calls;
#else
  (void)calls;
#endif
  return STOKER_OP_OK;
}

/* Adds the label to each byte, and the number of rows of `words`. */
__attribute__((unused)) static int32_t look(const union stoker_op_value *arguments, struct stoker_op_draws *draws,
                    const struct stoker_op_image *in, struct stoker_op_image *out, char *why, size_t why_bytes) {
  const struct stoker_op_field *label = arguments[0].field, *words = arguments[1].field;
  int64_t i;
  (void)draws, (void)why, (void)why_bytes;
  if (label->dtype != STOKER_OP_INT64 || label->dimensions != 0 || words->dimensions != 1) return STOKER_OP_FAILED;
  for (i = 0; i < 3 * in->height * in->width; ++i)
    out->pixels[i] = (uint8_t)(in->pixels[i] + *(const int64_t *)label->data + words->shape[0]);
  return STOKER_OP_OK;
}

__attribute__((unused)) static void crop_size(const union stoker_op_value *arguments, int64_t *height, int64_t *width) {
  *height -= arguments[0].integer;
  *width -= arguments[0].integer;
}

__attribute__((unused)) static int32_t crop(const union stoker_op_value *arguments, struct stoker_op_draws *draws,
                    const struct stoker_op_image *in, struct stoker_op_image *out, char *why, size_t why_bytes) {
  int64_t y;
  (void)arguments, (void)draws, (void)why, (void)why_bytes;
  for (y = 0; y < out->height; ++y)
    memcpy(out->pixels + 3 * y * out->width, in->pixels + 3 * y * in->width, (size_t)(3 * out->width));
  return STOKER_OP_OK;
}

#ifndef FAULT_NONE

static const struct stoker_op_argument shift_arguments[] = {
    {"strength", STOKER_OP_NUMBER, 0, {.number = 0.25}},
    {"level", STOKER_OP_INTEGER, 0, {.integer = 3}},
    {"noise", STOKER_OP_BOOLEAN, 0, {.integer = 0}},
    {"mode", STOKER_OP_TEXT, 0, {.text = "plain"}},
};
static const struct stoker_op_argument crop_arguments[] = {{"by", STOKER_OP_INTEGER, 1, {.integer = 2}}};

#if defined(FAULT_NAME)
#define SHIFT "Shift!"
#elif defined(FAULT_TAKEN)
#define SHIFT "random_crop"
#elif defined(FAULT_TWICE)
#define SHIFT "cut"
#else
#define SHIFT "shift"
#endif
#ifdef FAULT_VERSION
#define VERSION 0
#else
#define VERSION 7
#endif
#ifdef FAULT_ABI
#define ABI (STOKER_OP_ABI + 1)
#else
#define ABI STOKER_OP_ABI
#endif

static const int64_t no_label = 0, no_words = 0;
static const struct stoker_op_field label = {STOKER_OP_INT64, 0, NULL, &no_label};
#ifdef FAULT_FIELD
static const struct stoker_op_field words = {STOKER_OP_UINT8, 9, &no_words, NULL};
#else
static const struct stoker_op_field words = {STOKER_OP_UINT8, 1, &no_words, NULL};
#endif
static const struct stoker_op_argument look_arguments[] = {{"label", STOKER_OP_FIELD, 0, {.field = &label}},
                                                           {"words", STOKER_OP_FIELD, 0, {.field = &words}}};

static const struct stoker_op ops[] = {
    {SHIFT, VERSION, "adds a level", shift_arguments, 4, check, NULL, shift},
    {"cut", 1, "cuts pixels off", crop_arguments, 1, NULL, crop_size, crop},
    {"look", 1, "adds the label", look_arguments, 2, NULL, NULL, look},
};
static const struct stoker_op_table library = {ABI, ops, sizeof ops / sizeof ops[0]};

const struct stoker_op_table *stoker_op_library(void) { return &library; }

#endif
