#ifndef STOKER_CLIENT_CLI_GLYPHS_H_
#define STOKER_CLIENT_CLI_GLYPHS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// A font of capitals, digits and signs, each 5 × 7 pixels, for captions in pictures. Pure functions, thread-safe.

inline constexpr int64_t kGlyphWidth = 5, kGlyphHeight = 7;  // pixels
inline constexpr int64_t kGlyphStepX = 6, kGlyphStepY = 9;   // from one glyph, and from one line, to the next

// Whether the pixel of the character's glyph is set, 0 ≤ y < kGlyphHeight and 0 ≤ x < kGlyphWidth. Letters look like
// their capitals, and characters that the font lacks like a question mark.
bool GlyphHas(char character, int64_t y, int64_t x);

// Breaks `text`, which is UTF-8, into at most `lines` lines of at most `most` characters, at spaces where there are
// some. Each code point beyond ASCII becomes a question mark. The last line ends in "..." where some of the text is
// left out.
std::vector<std::string> Wrapped(std::string_view text, int64_t most, int64_t lines);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_GLYPHS_H_
