#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_PROGRAM_DECODE_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_PROGRAM_DECODE_H_

#include <string>
#include <string_view>

#include "server/read/formats/parquet/messages.h"

namespace stoker {

// Decodes the columns that `request` wants, from the bytes of its ranges, into a message of DecodedColumns. Throws a
// std::exception where they do not decode.
std::string DecodeColumns(const DecodeRequest& request, std::string_view bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_PROGRAM_DECODE_H_
