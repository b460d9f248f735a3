#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_PROGRAM_FOOTER_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_PROGRAM_FOOTER_H_

#include <string_view>

#include "server/read/formats/parquet/messages.h"

namespace stoker {

// Says what a file's footer tells of. Throws a std::exception for bytes that are none, and for files whose values are
// encrypted or lie in other files.
ParquetFooter DescribeFooter(std::string_view footer);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_PROGRAM_FOOTER_H_
