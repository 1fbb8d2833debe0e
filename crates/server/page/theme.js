// Light, dark, or as the system has it. No module, because it has to run before the first paint.
{
  const NAME = "codex-completions.theme";
  const NEXT = { system: "light", light: "dark", dark: "system" };
  const WORDS = { system: "as the system has it", light: "light", dark: "dark" };
  const root = document.documentElement;

  // A browser may forbid storage; the choice then lasts as long as the page.
  const stored = () => {
    try {
      return localStorage.getItem(NAME);
    } catch {
      return null;
    }
  };
  const store = (theme) => {
    try {
      localStorage.setItem(NAME, theme);
    } catch {
      // Nothing to be done about it.
    }
  };

  const show = (theme) => {
    root.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (button) button.title = `Now ${WORDS[theme]}; next: ${WORDS[NEXT[theme]]}`;
  };

  show(stored() in NEXT ? stored() : "system");
  document.addEventListener("DOMContentLoaded", () => {
    show(root.dataset.theme);
    document.getElementById("theme").addEventListener("click", () => {
      show(NEXT[root.dataset.theme]);
      store(root.dataset.theme);
    });
  });
}
