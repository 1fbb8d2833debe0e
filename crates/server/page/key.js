// The owner's key: asked once, or passed in the link's fragment, and kept in this browser.

const NAME = "codex-completions.key";

// Where storage is forbidden, the key lasts as long as the page.
let known = null;

export function current() {
  try {
    return localStorage.getItem(NAME) ?? known;
  } catch {
    return known;
  }
}

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

/// Takes the key from `#key=…` and out of the address bar and the history: an address is copied, and
/// shown on screens.
export function takeFromAddress() {
  const match = /^#key=([^&]+)$/.exec(location.hash);
  if (!match) return;
  history.replaceState(null, "", "#/overview");
  try {
    keep(decodeURIComponent(match[1]));
  } catch {
    // Not a key that anybody has made; it is asked for.
  }
}
