// What programs may ask the page for.
#pragma once

namespace podere::session {

/// In the terms of OpenAPI 3.1, as JSON.
extern const char* const kPageApi;

}  // namespace podere::session
