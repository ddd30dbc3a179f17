"""Makes the pictures of made/ and EXPECTED.tsv: what Pillow makes of them and of those in odd/. Needs Pillow alone.

make.py [MICROGRAPH]: a micrograph of Zeiss, of which a corner is kept with all that was written beside it.
"""
import pathlib
import random
import sys
import zlib

from PIL import Image, TiffImagePlugin

HERE = pathlib.Path(__file__).parent
MADE = HERE / "made"
FILTERS = {"box": Image.BOX, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}


def scene(mode, width=61, height=47):
    """Smooth and rough, of all colors."""
    chance = random.Random(7)
    picture = Image.new("RGB", (width, height))
    picture.putdata([((x * 4) % 256, (y * 5) % 256, (x * y + chance.randrange(40)) % 256) for y in range(height)
                     for x in range(width)])
    if mode in ("LA", "RGBA"):
        picture = picture.convert(mode)
        picture.putalpha(Image.frombytes("L", picture.size, bytes((3 * i) % 256 for i in range(width * height))))
        return picture
    return picture.convert(mode)


def make(name, mode, **options):
    scene(mode).save(MADE / name, **options)


def make_all():
    for mode in ("L", "RGB", "CMYK"):
        make(f"{mode}.jpg", mode, quality=85)
        make(f"{mode}.tif", mode)
    make("progressive.jpg", "RGB", quality=60, progressive=True)
    turned = Image.Exif()
    turned[0x0112] = 6
    make("exif.jpg", "RGB", exif=turned)
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA"):
        make(f"{mode}.png", mode)
    make("trns.png", "RGB", transparency=(0, 0, 0))
    make("few.png", "P", bits=2)
    for packing in ("tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg", "zstd"):
        make(f"{packing}.tif", "RGB", compression=packing)
    for mode in ("1", "P", "LA", "RGBA"):
        make(f"{mode}.tif", mode)
    make("group4.tif", "1", compression="group4")
    make("ycbcr.tif", "YCbCr")
    for orientation in range(2, 9):
        tags = TiffImagePlugin.ImageFileDirectory_v2()
        tags[274] = orientation
        make(f"turned_{orientation}.tif", "RGB", compression="tiff_lzw", tiffinfo=tags)
    scene("L").save(MADE / "pages.tif", save_all=True, append_images=[scene("RGB").resize((20, 30)), scene("1")])
    if len(sys.argv) > 1:
        whole = Image.open(sys.argv[1])
        tags = TiffImagePlugin.ImageFileDirectory_v2()
        tags[34118] = whole.tag_v2[34118].encode("latin-1")
        tags.tagtype[34118] = 2
        whole.crop((100, 100, 164, 148)).save(MADE / "zeiss.tif", tiffinfo=tags)


def expected(path):
    try:
        picture = Image.open(path)
        if picture.mode.startswith("I") or picture.mode == "F" or (path.suffix == ".png" and picture.mode == "I"):
            return None  # more than 8 bits, which Pillow cuts off
        if picture.info.get("compression") == "lzma" or picture.mode == "LAB":
            return None  # which Podere refuses
        return picture.convert("RGB")
    except Exception:
        return None


make_all()
lines = []
for path in sorted([*MADE.iterdir(), *(HERE / "odd").iterdir()]):
    picture = expected(path)
    if picture is None:
        continue
    name = path.relative_to(HERE).as_posix()
    lines.append(f"{name}\t{picture.width}\t{picture.height}\t-\t{zlib.crc32(picture.tobytes())}\n")
for name in ("made/RGB.png", "made/L.png", "odd/055_flower-rgb-planar-04.tif"):
    picture = expected(HERE / name)
    if picture is None:
        continue
    for width, height in ((1, 1), (7, 90), (29, 29), (61, 11), (13, 47), (200, 150)):
        for word, kind in FILTERS.items():
            sized = picture.resize((width, height), kind)
            lines.append(f"{name}\t{width}\t{height}\t{word}\t{zlib.crc32(sized.tobytes())}\n")
(HERE / "EXPECTED.tsv").write_text("".join(lines))
