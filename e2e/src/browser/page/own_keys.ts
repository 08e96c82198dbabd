/** The page of the auth proxy once more: this one is bundled with the plugin of `examples/bundler_plugin`. */
import "./auth_proxy.ts";
