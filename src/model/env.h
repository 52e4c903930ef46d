/* The environment as the CLI read it; nobody else calls getenv(). Texts are borrowed from the process environment;
 * NULL: unset. */
#ifndef DG_MODEL_ENV_H
#define DG_MODEL_ENV_H

struct dg_env {
    const char *home, *xdg_state_home, *xdg_config_home, *xdg_runtime_dir;
    const char *db, *trace, *no_color, *term, *columns;
    const char *cuda_visible_devices, *cuda_device_order, *ld_library_path, *cuda_mps_pipe_directory,
        *nvidia_visible_devices;
    const char *device_root; /* stands in for / before /sys, /proc and /dev of the device part: tests */
};

#endif
