// Asking for the key, and saying where it is.

import { ApiError } from "./api.js";
import { element, note, setText, withCode } from "./dom.js";
import { isOfOneRun, isPlain, lastingOrigin } from "./session.js";

export function keyForm({ refusal, onKey }) {
  if (isOfOneRun) return wayBack(refusal);
  const input = element("input", {
    id: "key",
    name: "key",
    type: "text",
    class: "masked mono",
    required: true,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    placeholder: "sk-proxy-…",
    "aria-describedby": "key-note",
    on: { input: () => isRight() },
  });
  const problem = element("p", { id: "key-note", class: "field-note bad", "aria-live": "polite" });
  const isRight = () => {
    const given = input.value.trim();
    const right = given === "" || isPlain(given);
    input.setAttribute("aria-invalid", String(!right));
    setText(problem, right ? "" : "A key has only plain letters, digits and signs.");
    return right;
  };
  const remember = element("input", { type: "checkbox", id: "remember", "aria-describedby": "remember-note" });
  const form = element(
    "form",
    {
      class: "stack",
      on: {
        submit(event) {
          event.preventDefault();
          const given = input.value.trim();
          if (given && isRight()) onKey(given, { remember: remember.checked });
        },
      },
    },
    element("div", { class: "field" }, element("label", { for: "key" }, "API key"), input, problem),
    element(
      "div",
      {},
      element("label", { class: "check" }, remember, "Remember on this machine"),
      element(
        "p",
        { id: "remember-note", class: "field-note" },
        "Stores the key in this browser. Whatever program "
          + "answers at this address later, for instance while the server is stopped, can read it there.",
      ),
    ),
    element("button", { type: "submit", class: "primary" }, "Continue"),
  );
  requestAnimationFrame(() => input.focus());

  return element(
    "div",
    { class: "card key-card stack" },
    element("h1", {}, "This page needs your key"),
    element(
      "p",
      {},
      withCode(
        "It is the key of the server's owner, the same one that your clients may use. It opens a "
          + "session for this tab, which ends with the server. `codex-completions status`, in a terminal, checks that the "
          + "server is yours and prints a link that needs no key.",
      ),
    ),
    refusal && note("bad", ...refused(refusal)),
    form,
    element("h2", { class: "small-heading" }, "Where is it?"),
    element(
      "ul",
      { class: "plain-list" },
      element(
        "li",
        {},
        withCode(
          "When the server starts, it names the file that has the key. Unless you have chosen "
            + "another folder, this shows it:",
        ),
        element("pre", { class: "snippet", tabindex: "0" }, "cat ~/.local/share/codex-completions/api-key"),
      ),
      element("li", {}, withCode("If you have set `PROXY_API_KEY`, that is the key.")),
      element(
        "li",
        {},
        withCode("Lost? `codex-completions key rotate` makes a new one. The old one is then worthless."),
      ),
    ),
  );
}

/// A page of one run asks for no key: after that run another program may answer at its address.
function wayBack(refusal) {
  return element(
    "div",
    { class: "card key-card stack" },
    element("h1", {}, "This page is closed"),
    refusal?.byLink && note("bad", ...refused(refusal)),
    element(
      "p",
      {},
      withCode(
        "A printed link opens it once, within ten minutes, for one run of the server, and until it is "
          + "locked. `codex-completions status`, in a terminal, prints a new one. With your key you can also use the lasting "
          + "address:",
      ),
    ),
    element("p", {}, element("a", { class: "button primary", href: `${lastingOrigin}/` }, lastingOrigin)),
  );
}

function refused({ error, byLink = false, bySession = false }) {
  if (byLink && error.isAboutTheKey) {
    return [
      element("strong", {}, "This link opens nothing any more."),
      withCode(" A link is good once, and for ten " + "minutes. `codex-completions status` prints another."),
    ];
  }
  if (bySession) {
    return [
      element("strong", {}, "The session has ended."),
      " The server was started again, its key was changed, or " + "the page was locked.",
    ];
  }
  if (error.code === "owner_key_required") {
    return [
      element("strong", {}, "This is the key of a client."),
      " It was made with ",
      element("code", {}, "key add"),
      ", and may ask models. The page shows everybody's "
        + "turns and can sign in and out, so it needs the owner's key.",
    ];
  }
  if (!(error instanceof ApiError)) return ["The server cannot be reached. Please try again."];
  if (!error.isAboutTheKey) return [error.message];
  return [element("strong", {}, "This key is not right."), " Please check it, or look where it is kept."];
}
