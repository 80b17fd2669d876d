#pragma once

namespace millrace::kernels {

// The layout of the registers of the matrix unit (AMX) that _tile_loadconfig reads, palette 1. A
// plain struct, because files that are compiled for newer processors include it.
struct alignas(64) TileShapes {
  unsigned char palette = 1;
  unsigned char start_row = 0;
  unsigned char reserved[14] = {};
  unsigned short row_bytes[16] = {};
  unsigned char rows[16] = {};
};

}  // namespace millrace::kernels
