/** The launcher as it is, but that its children run on the test disk too: it starts them by this path and with no environment. */
process.execPath = process.env.NODE_ON_TEST_DISK ?? "";
await import(new URL("../../../server/main.mjs", import.meta.url).href);
