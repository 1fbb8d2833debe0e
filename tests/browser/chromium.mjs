// How the browser is started: headless, in a folder of its own, and asking nobody but the pages that it is sent to.

/** Options of playwright for the browser that CHROMIUM names, with more arguments if need be. */
export function browserOptions(...more) {
  return {
    executablePath: process.env.CHROMIUM,
    args: [
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...more,
    ],
    // Chromium refuses its sandbox to root.
    chromiumSandbox: process.getuid() !== 0,
  };
}
