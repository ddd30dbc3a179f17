// What the object of a farm says of it, in the form that `podere farm status --json` and the page have.
#pragma once

#include "podere/base/json.h"
#include "podere/kube/object.h"

namespace podere::overview {

/// {"namespace", "name", "guaranteed", "wanted", "maximum", "priority", "weight", "gang", "makes_pods", "status"} of a
/// Farm as deploy/chart/crds/farms.yaml describes it. "wanted" is null where the farm wants as many as there are,
/// "status" until the operator has looked at it. Members of another kind than they should have count as absent.
Json farm_facts(const kube::Json& object);

}  // namespace podere::overview
