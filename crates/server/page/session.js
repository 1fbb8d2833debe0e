// The session of this tab, which stands for the owner's key until the server stops. The key itself is stored only
// where its owner asks for that.

const SESSION = "codex-completions.session";
const REMEMBERED_KEY = "codex-completions.remembered-key";

/// Version 0.1 stored the key here without asking.
const KEY_OF_0_1 = "codex-completions.key";

// Where storage is forbidden, the session lasts as long as the page.
let known = null;

/// Whether the page is open under its name for one run of the server, which no later run answers to.
export const isOfOneRun = /^run-[0-9a-f]{16}\.localhost$/.test(location.hostname);

/// The address that every run answers to, and that clients use.
export const lastingOrigin = isOfOneRun ? `http://127.0.0.1:${location.port || 80}` : location.origin;

// The storages are looked up in here: where they are forbidden, even naming them throws.
const storage = (use) => {
  try {
    return use({ tab: sessionStorage, machine: localStorage });
  } catch {
    return null;
  }
};

/// The token that requests are sent with, or null.
export const current = () => storage(({ tab }) => tab.getItem(SESSION)) ?? known;

export function keep(token) {
  known = token;
  storage(({ tab }) => tab.setItem(SESSION, token));
}

/// The session has ended.
export function drop() {
  known = null;
  storage(({ tab }) => tab.removeItem(SESSION));
}

export const rememberKey = (key) => storage(({ machine }) => machine.setItem(REMEMBERED_KEY, key));

export const forgetKey = () => storage(({ machine }) => machine.removeItem(REMEMBERED_KEY));

/// The key that the owner asked to remember, or null.
export const rememberedKey = () => plainOrNull(storage(({ machine }) => machine.getItem(REMEMBERED_KEY)));

/// The key that version 0.1 has left, for the last time, or null.
export function takeKeyOf01() {
  return storage(({ machine }) => {
    const key = machine.getItem(KEY_OF_0_1);
    machine.removeItem(KEY_OF_0_1);
    return plainOrNull(key);
  });
}

/// Whether a header can carry it: visible ASCII. No server has made any other key.
export const isPlain = (key) => /^[\x21-\x7e]+$/.test(key);

const plainOrNull = (key) => (key !== null && isPlain(key) ? key : null);

/// The code of `#code=…`, or the key of a link of version 0.1, or null. It is removed from the address bar: an
/// address is copied, and shown on screens.
export function takeFromAddress() {
  const match = /^#(?:code|key)=(.*)$/.exec(location.hash);
  if (!match) return null;
  history.replaceState(null, "", "#/overview");
  try {
    return plainOrNull(decodeURIComponent(match[1]));
  } catch {
    return null;
  }
}
