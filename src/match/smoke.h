/* Does a server's answer look like language, or like broken numerics? A pure judgement of text: `!!!!`, one token over
 * and over, loops of a phrase, replacement characters, NaN, scripts mixed at random, words that make no sentence
 * (salad.h), nothing at all. LIMITATIONS: nonsense in good grammar passes; fewer than about 8 characters tell little
 * and pass unless they are one symbol. */
#ifndef DG_MATCH_SMOKE_H
#define DG_MATCH_SMOKE_H

#include "base/buf.h"

enum dg_smoke { DG_SMOKE_PLAUSIBLE, DG_SMOKE_GARBAGE, DG_SMOKE_NOTHING };

/* Take the answer's text out of `body` into `out`: the JSON of OpenAI-like, SGLang, llama.cpp, Ollama, TGI and
 * Anthropic-like APIs, whole or as server-sent events; anything else is taken as it is. Returns false when the JSON
 * holds no answer (an error object). */
bool dg_smoke_answer(struct dg_slice body, struct dg_buf *out);
/* Judge. `reason` gets one line, at most `size` bytes. DG_SMOKE_NOTHING: no byte came; white space alone is garbage. */
enum dg_smoke dg_smoke_judge(struct dg_slice text, char *reason, size_t size);

/* The same of an answer as a log quotes it, with the escapes of JSON or Python, its beginning only: is it garbage? */
bool dg_smoke_quoted(struct dg_slice quoted);

#endif
