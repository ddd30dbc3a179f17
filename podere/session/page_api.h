// What programs may ask the page for.
#pragma once

#include <string>

namespace podere::session {

/// In the terms of OpenAPI 3.1, as JSON.
const std::string& page_api();

}  // namespace podere::session
