#include "podere/python/image_layer.h"

#include <fmt/format.h>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/image/decode.h"
#include "podere/image/list.h"

namespace podere::python {

ImageLayer::ImageLayer(const std::string& model, const std::string& layer, const std::string& preprocess,
                       std::uint32_t size, unsigned bits)
    : layer_({.path = model,
              .preprocess = preprocess,
              .size = size,
              .bits = bits,
              .layer = layer,
              .is_in_location = true}) {}

void ImageLayer::compute(std::size_t n, const std::function<void(std::size_t i, const Use& use)>& picture_of,
                         std::span<float> features, int n_threads) const {
  parallel_for(n_threads, n, [&](std::size_t i, int /*thread*/) {
    picture_of(i, [&](const image::Picture& picture, const std::string& title) {
      layer_.compute(picture, title, features.subspan(i * n_features(), n_features()));
    });
  });
}

void ImageLayer::of_files(const std::vector<std::string>& files, std::span<float> features, int n_threads) const {
  const auto picture_of = [&](std::size_t i, const Use& use) {
    const image::PictureList list = image::list_pictures(files[i]);
    if (list.size() != 1) throw_input_error("{}: is {} pictures, and one is expected", files[i], list.size());
    const std::string title = list.title(0);
    use(image::decode(list.read(0)->get(), title, layer_.decoding()), title);
  };
  compute(files.size(), picture_of, features, n_threads);
}

void ImageLayer::of_pictures(const std::vector<image::Picture>& pictures, std::size_t first, std::span<float> features,
                             int n_threads) const {
  const auto picture_of = [&](std::size_t i, const Use& use) {
    use(pictures[i], fmt::format("picture {}", first + i));
  };
  compute(pictures.size(), picture_of, features, n_threads);
}

std::vector<std::string> files_of_pictures(const std::string& location) {
  if (image::is_archive(location)) {
    throw_input_error("{}: is an archive; its pictures are read by Session.read_images, or once they are unpacked",
                      location);
  }
  return image::files_of_pictures(location);
}

}  // namespace podere::python
