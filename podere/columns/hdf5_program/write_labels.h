// Writes what was found about pictures.
#pragma once

#include <iosfwd>

namespace podere::columns::hdf5 {

/// Writes the HDF5 file `path`, which may be there and then is written over, from lines of JSON. The first has
///
///   attributes  {name: text}
///   classes     names, or none
///   top, pictures   how many classes a picture has at most, and how many pictures come
///
/// and each of the others what was found of a picture:
///
///   name, error, detector   texts
///   width, height
///   top         [[class, bits of its score as float32], ...], the best first; missing ones become -1 and 0
///   numbers     pixel size in nm, voltage in kV, working distance in mm, magnification; null where not known
///
/// The same lines make the same bytes. Throws Refusal.
void write_labels(const char* path, std::istream& lines);

}  // namespace podere::columns::hdf5
