// Under ThreadSanitizer protobuf's own header adds members to every map field. Debian's library was built without
// ThreadSanitizer and lacks these members. The compiler finds this file before that header, and it keeps the library's
// layout.
#pragma once
#include <atomic>  // libstdc++ decides here for or against ThreadSanitizer, so it must still see the macro.

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include_next <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
