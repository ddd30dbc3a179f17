// Reading objects of which any part may be missing.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "podere/kube/object.h"

namespace podere::controller {

using kube::Json;

/// The object at a path such as {"status", "allocatable"}; an empty one where there is none.
const Json& object_at(const Json& object, std::initializer_list<const char*> path);

/// The array that is a member of `object`; an empty one where there is none.
const Json& array_at(const Json& object, const char* name);

/// An integer member; `otherwise` where there is none.
std::int64_t integer_at(const Json& object, const char* name, std::int64_t otherwise);
double number_at(const Json& object, const char* name, double otherwise);
/// Whether a member is true.
bool flag_at(const Json& object, const char* name);

/// Of status.conditions the one of this type; null where there is none.
const Json* condition_of(const Json& object, std::string_view type);

/// Seconds since 1970 of a time such as metadata.creationTimestamp; 0 where there is none.
double time_at(const Json& object, std::initializer_list<const char*> path);
double seconds_of(std::string_view time);
double seconds_now();
/// RFC 3339, rounded to the second.
std::string time_text(double seconds);

}  // namespace podere::controller
