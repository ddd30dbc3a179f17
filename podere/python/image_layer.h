// Features of pictures for the Python package.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "podere/classify/feature_layer.h"
#include "podere/image/picture.h"

namespace podere::python {

/// A layer of a network, and pictures of this process or of files brought through it, each on a thread.
class ImageLayer {
 public:
  /// Throws InputError as classify::FeatureLayer.
  ImageLayer(const std::string& model, const std::string& layer, const std::string& preprocess, std::uint32_t size,
             unsigned bits);

  std::size_t n_features() const { return layer_.n_features(); }
  std::vector<std::string> names() const { return layer_.names(); }

  /// Of the files, a row each: `features` [files.size() x n_features()]. Throws InputError for the first that is no
  /// picture.
  void of_files(const std::vector<std::string>& files, std::span<float> features, int n_threads) const;
  /// The same of pixels [height][width][channels]; messages count pictures from `first` on.
  void of_pictures(const std::vector<image::Picture>& pictures, std::size_t first, std::span<float> features,
                   int n_threads) const;

 private:
  /// `picture_of(i, use)` calls `use(picture, title)`.
  using Use = std::function<void(const image::Picture& picture, const std::string& title)>;
  void compute(std::size_t n, const std::function<void(std::size_t i, const Use& use)>& picture_of,
               std::span<float> features, int n_threads) const;

  classify::FeatureLayer layer_;
};

/// The pictures of a folder, pattern or list, by the paths of their files. Throws InputError for none, and for an
/// archive, whose pictures have no files.
std::vector<std::string> files_of_pictures(const std::string& location);

}  // namespace podere::python
