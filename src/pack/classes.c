/* classes.yaml: the closed list of classes and subclasses. */
#include "pack/read.h"

static void read_subclasses(struct reader *r, const struct dg_yaml *n, void *obj) {
    static const struct field FIELDS[] = {{"name", read_text, offsetof(struct dg_subclass, name)},
                                          {"title", read_text, offsetof(struct dg_subclass, title)},
                                          {"symptom", read_bool, offsetof(struct dg_subclass, symptom)}};
    struct dg_class *c = obj;
    const struct dg_yaml *it = read_items(n, &c->n_sub);
    c->sub = reader_alloc(r, c->n_sub, sizeof(*c->sub));
    for (uint32_t i = 0; c->sub && i < c->n_sub; i++, it = it->next)
        read_map(r, it, FIELDS, DG_COUNT(FIELDS), &c->sub[i]);
}

static void read_list(struct reader *r, const struct dg_yaml *n, void *obj) {
    static const struct field FIELDS[] = {{"name", read_text, offsetof(struct dg_class, name)},
                                          {"title", read_text, offsetof(struct dg_class, title)},
                                          {"explain", read_text, offsetof(struct dg_class, explain)},
                                          {"subclasses", read_subclasses, 0}};
    struct dg_ruleset *set = obj;
    const struct dg_yaml *it = read_items(n, &set->n_classes);
    set->classes = reader_alloc(r, set->n_classes, sizeof(*set->classes));
    for (uint32_t i = 0; set->classes && i < set->n_classes; i++, it = it->next)
        read_map(r, it, FIELDS, DG_COUNT(FIELDS), &set->classes[i]);
    if (!set->classes) set->n_classes = 0;
}

void read_classes(struct reader *r, const struct dg_yaml *n, struct dg_ruleset *set) {
    static const struct field FIELDS[] = {{"classes", read_list, 0}};
    read_map(r, n, FIELDS, DG_COUNT(FIELDS), set);
}
