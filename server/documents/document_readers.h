#pragma once

#include "server/documents/document.h"

namespace millrace::server {

// Read files that are one text as a whole. What separates its paragraphs is kept by the readers of
// text, HTML and Markdown in models/translation/markup. Lines of plain text that an editor broke
// within a sentence are joined, and broken again.
DocumentReader ReadPlainText, ReadMarkdownText, ReadHtmlText;

// Read subtitles. All but the texts of the cues stays byte for byte. A sentence that goes on in the
// next cue is translated as a whole and divided again.
DocumentReader ReadSrt, ReadWebVtt, ReadAss, ReadMicroDvd;

// Read the documents of office programs: zip archives of XML. All paragraphs are translated, also
// those of tables, headers, footers, notes, comments, charts and diagrams; everything else stays.
DocumentReader ReadDocx, ReadPptx, ReadOdt, ReadOdp;

// Reads an e-book. Its chapters and its navigation are translated, and the table of contents of
// EPUB 2; everything else stays.
DocumentReader ReadEpub;

// Reads JSON, as programs keep the texts of their user interface in it. The values that are strings
// with letters are translated; keys, numbers and white space stay, and so does what is below a key
// that begins with @ or $, as the metadata of ARB files and of JSON Schema does.
DocumentReader ReadJson;

// Reads a catalogue of gettext. Each msgstr that is empty is filled with the translation of its
// msgid, and the plural forms with that of msgid_plural, as many as the header says. A msgstr with
// text, comments and flags stay, and so does the header where it names a language and plural forms;
// else it gets those of the target language. A translation that does not take the arguments of its
// format string stays empty.
DocumentReader ReadPo;

// Reads XLIFF 1.2 and 2: each unit that has no translation gets one in its `target`, with the
// inline elements of its `source`, and a state that says so. Units that are translated, approved or
// marked as not to be translated stay. `target_language` is declared where the file names none.
DocumentReader ReadXliff;

}  // namespace millrace::server
