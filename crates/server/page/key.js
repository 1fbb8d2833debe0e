// The owner's key: asked once, or passed in the link's fragment, and kept in this browser.

const NAME = "codex-completions.key";

// Where storage is forbidden, the key lasts as long as the page.
let known = null;

export function current() {
  const kept = stored() ?? known;
  return kept !== null && isPlain(kept) ? kept : null;
}

function stored() {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}

/// Whether a header can carry it: visible ASCII. No server has made any other key.
export const isPlain = (key) => /^[\x21-\x7e]+$/.test(key);

export function keep(key) {
  known = key;
  try {
    localStorage.setItem(NAME, key);
  } catch {
    // It is still known here.
  }
}

export function forget() {
  known = null;
  try {
    localStorage.removeItem(NAME);
  } catch {
    // It was never there.
  }
}

/// The key of `#key=…`, or null. It goes out of the address bar: an address is copied, and shown on
/// screens. It is not kept yet: any page can have a link with a key that is wrong.
export function takeFromAddress() {
  const match = /^#key=(.*)$/.exec(location.hash);
  if (!match) return null;
  history.replaceState(null, "", "#/overview");
  try {
    const key = decodeURIComponent(match[1]);
    return isPlain(key) ? key : null;
  } catch {
    return null;
  }
}
