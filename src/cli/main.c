#include "cli/app.h"

int main(int argc, char **argv) { return dg_cli_main(argc, argv, NULL); }
