// Writes what was found about pictures.
#pragma once

#include <iosfwd>

namespace podere::columns::hdf5 {

/// Writes the HDF5 file `path`, which may be there and then is written over, from lines of JSON. The first has
///
///   attributes  {name: text}
///   classes     names, or none
///   top, pictures   how many classes a picture has at most, and how many pictures come
///   images      what is kept of pictures themselves: "none", "small" or "original"
///   image_shape [height, width, channels] of small ones
///
/// and each of the others what was found of a picture:
///
///   name, error, detector   texts
///   width, height
///   top         [[class, bits of its score as float32], ...], the best first; missing ones become -1 and 0
///   image_bytes how many bytes of the picture itself come next, and a line break; 0: none, and no line break
///   numbers     pixel size in nm, voltage in kV, working distance in mm, magnification; null where not known
///
/// The same lines make the same bytes. Throws Refusal.
void write_labels(const char* path, std::istream& lines);

}  // namespace podere::columns::hdf5
