// The labels of pictures.
#pragma once

#include <string>
#include <vector>

#include "podere/image/list.h"

namespace podere::image {

/// Of each picture the first folder that not all of them lie in; of those in a folder of the disk its first. Empty if
/// they lie in no folders. Throws InputError if some lie in one and others do not.
std::vector<std::string> folder_labels(const PictureList& pictures);

/// Of each picture what stands beside its name in a text file of two columns, separated by a comma, semicolon or tab:
/// the name as PictureList::name has it, or, where that is the only one, without its folders. That of a file of several
/// pages is for all of them. The first line may name the columns. Empty for a picture that is not in there. Throws
/// InputError for a line that has other columns or comes twice, and if none of the pictures is in there.
std::vector<std::string> file_labels(const PictureList& pictures, const std::string& file);

}  // namespace podere::image
