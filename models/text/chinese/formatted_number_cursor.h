#pragma once

#include <cstddef>

#include "models/text/chinese/chinese_cursor.h"

namespace millrace::models {

// Writes numbers out whose digits and signs have a format of their own. Not thread-safe.
class FormattedNumberCursor : protected ChineseCursor {
 public:
  using ChineseCursor::ChineseCursor;

 protected:
  // Writes the date, time, fraction, years, version, code or telephone number that is here. Returns
  // true if there is one.
  bool WriteFormatted();

 private:
  // 2025-05-01, 2025/5/1 and 日期:20250501.
  bool WriteDate();
  // 8:05, and what took 1:02:33.
  bool WriteTime();
  // 3/4, 24/7.
  bool WriteFraction();
  // 2019-2023, 2023/24.
  bool WriteYears();
  // 5.1劳动节, 10.1国庆节.
  bool WriteNamedDay();
  // 1.2.3, 192.168.0.1.
  bool WriteVersion();
  // Numbers that are names: 打110, 密码是1234, CA1234.
  bool WriteCode();
  // Returns true if a space and four digits are there.
  bool IsGroupOfFour(size_t begin) const;
  // Telephone numbers: groups of digits with hyphens, and eleven digits that begin with 1.
  bool WriteTelephone();
};

}  // namespace millrace::models
