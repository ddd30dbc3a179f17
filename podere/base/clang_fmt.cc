// Debian's libfmt is built by GCC 12, and Clang 14 has another name for one of its templates: this is it. With fmt from
// headers alone instead, each source would take five seconds longer to compile.
#include <fmt/format.h>

#ifdef __clang__
template void fmt::detail::vformat_to<char>(buffer<char>& to, basic_string_view<char> format,
                                            basic_format_args<FMT_BUFFER_CONTEXT(type_identity_t<char>)> args,
                                            locale_ref locale);
#endif
