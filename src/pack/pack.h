/* Rule packs: strict YAML to struct dg_ruleset, its faults, its binary form, its lint and its tests. */
#ifndef DG_PACK_H
#define DG_PACK_H

#include "base/err.h"
#include "base/mem.h"
#include "model/rule.h"

struct dg_pack; /* owns a ruleset and its arena; read-only after load */

/* A folder or file of packs, in order of precedence: later ones replace rules of the same id. `required`: absence is an
 * error. */
struct dg_pack_place {
    const char *path;
    bool required;
    bool user;  /* not shipped: world-writable folders are refused unless `named` */
    bool named; /* given by --rules: taken with a warning */
};

/* Load from YAML. 0: *ret is set (some rules may have been rejected: see problems and ruleset.n_rejected). A pack with
 * a fault loses that rule only; a file that does not parse loses itself. -DG_E_IO (a required place is unreadable),
 * -DG_E_NOMEM. `keep_examples`: for lint and test; probs then also gets advice on rules that work. */
int dg_pack_load(const struct dg_pack_place *places, size_t n, bool keep_examples, struct dg_problems *probs,
                 struct dg_pack **ret, struct dg_err *err);
/* Advice that needs the whole set: names in refines, explains, recovers and suggests behind which nothing stands. All
 * advice on single rules is given by dg_pack_load with keep_examples. */
void dg_pack_lint(const struct dg_pack *p, struct dg_problems *probs);
/* Load the binary form (packs.bin), then user places on top. -DG_E_UNSUPPORTED: made by another version or for another
 * architecture, or damaged: load the YAML instead. */
int dg_pack_load_bin(const char *bin, const struct dg_pack_place *user_places, size_t n, struct dg_problems *probs,
                     struct dg_pack **ret, struct dg_err *err);
/* What was loaded is no longer a file's: for who stays so long that another version may be written over it. Until then
 * it must be replaced by rename, as packages and the build do. 0 or -DG_E_NOMEM. */
int dg_pack_detach(struct dg_pack *p);
/* The same from a packs.bin that is in memory. */
int dg_pack_load_memory(struct dg_slice bin, const struct dg_pack_place *user_places, size_t n,
                        struct dg_problems *probs, struct dg_pack **ret, struct dg_err *err);
/* Write packs.bin: the rules without examples, the catalog, frozen for the address that is told here, and the matcher's
 * tables (or nothing), which are those of a pack that was loaded from such a file without them. */
uintptr_t dg_pack_catalog_at(void);
int dg_pack_save_bin(const struct dg_pack *p, struct dg_slice catalog, struct dg_slice tables, const char *path,
                     struct dg_err *err);
/* Where the tables of a pack from a packs.bin without them are to lie; 0: this one does not lie where its pointers are
 * right, so nor could they. */
uintptr_t dg_pack_tables_at(const struct dg_pack *p);
/* The catalog that came with packs.bin, or {NULL,0}. Its bytes are writable, to be thawed in place. */
struct dg_slice dg_pack_catalog(const struct dg_pack *p);
/* The tables that came with packs.bin; {NULL,0} where they cannot be used: for other rules or at another address. */
struct dg_slice dg_pack_tables(const struct dg_pack *p);

const struct dg_ruleset *dg_pack_rules(const struct dg_pack *p);
void dg_pack_free(struct dg_pack *p);
static inline void dg_pack_freep(struct dg_pack **p) { dg_pack_free(*p); }

#endif
