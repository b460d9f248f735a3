// Under ThreadSanitizer protobuf's own header adds members to every map field, which Debian's library, built without
// it, does not have. Found before that header, this keeps the layout which the library knows.
#pragma once
#include <atomic>  // libstdc++ decides here for or against ThreadSanitizer; let it see the macro.

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include_next <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
