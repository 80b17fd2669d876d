#pragma once

namespace millrace::kernels {

// How the registers of the matrix unit (AMX) are divided: what _tile_loadconfig reads, palette 1.
// Plain, for files that are compiled for newer processors than the rest.
struct alignas(64) TileShapes {
  unsigned char palette = 1;
  unsigned char start_row = 0;
  unsigned char reserved[14] = {};
  unsigned short row_bytes[16] = {};
  unsigned char rows[16] = {};
};

}  // namespace millrace::kernels
