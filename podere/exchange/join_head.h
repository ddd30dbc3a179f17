// A network for pictures and a head that learned from its features, as one network.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "podere/algorithm/model.h"
#include "podere/classify/picture_layer.h"

namespace podere::exchange {

struct JoinedNetwork {
  std::string onnx;                  ///< content of the file
  std::string preprocessing;         ///< content of the JSON file that goes beside it
  std::vector<std::string> classes;  ///< their names, in the order of the output
};

/// The network up to the layer, and behind it the head, which is a dense network for classes: [pictures x classes]
/// probabilities, by a softmax. Features are scaled in float32, so that probabilities are those of the head up to
/// rounding. What the layer does not need is left out. The classes are in the metadata too, as a JSON array under
/// "classes". Throws InputError for a head of another kind, or that learned other features than the layer has, and for
/// a network with weights in files beside it.
JoinedNetwork join_head(const algorithm::Model& head, const classify::NetworkOptions& options);

/// Files of a network with its head.
struct JoinedFiles {
  std::string network;
  std::string preprocessing;
  std::string classes;  ///< one a line
};

/// Writes them; the network, which needs the others, is the last to appear.
void write_joined(const JoinedNetwork& joined, const JoinedFiles& files);

/// join_head of the model in the file `head`, written into `folder` under names that say what they are of, as contact
/// sheets show them.
JoinedFiles write_joined_into(const std::filesystem::path& folder, const std::string& head,
                              const classify::NetworkOptions& options);

}  // namespace podere::exchange
