// Who is signed in, how much of the allowance is left, and signing in and out.

import { json } from "./api.js";
import { confirmed } from "./confirm.js";
import { element, fill, note, setText } from "./dom.js";
import { limits } from "./limits.js";
import { confirmingLogin, signInChoices, waitingLogin } from "./sign-in.js";

export function accountCard(signal) {
  const state = element("p", { class: "login-state", role: "status", data: { testid: "login-state" } });
  const body = element("div", { class: "stack" });
  const card = element(
    "section",
    { class: "card account", "aria-labelledby": "card-account" },
    element("h2", { id: "card-account" }, "Account"),
    state,
    body,
  );

  // What the last press of a button came to, where the status does not tell.
  let failure = null;
  let status = null;
  // Whether the ways to sign in are shown although an account is signed in.
  let choosing = false;
  const act = async (action) => {
    failure = null;
    try {
      const login = await action();
      // The answer is here before the next status, and says more than nothing.
      if (login?.state) status = { ...status, login };
    } catch (error) {
      failure = error;
    }
    if (!signal.aborted) show();
  };

  const begin = (request) => {
    choosing = false;
    // It may take a while until there is an answer.
    if (status) status = { ...status, login: { method: request.method, state: "starting" } };
    const acted = act(() => json("POST", "/v1/proxy/login", request));
    show();
    return acted;
  };
  const cancel = () => act(() => json("DELETE", "/v1/proxy/login"));
  const confirm = () => act(() => json("POST", "/v1/proxy/login/confirm", { id: status.login.id }));
  const choose = (wanted) => {
    choosing = wanted;
    failure = null;
    show();
    body.querySelector(wanted ? "#device-code" : "#use-another")?.focus();
  };
  const signOut = async () => {
    const sure = await confirmed({
      title: "Sign out?",
      words:
        "The login is removed from this server. Turns that are running are cut off, and no model but demo can "
        + "be asked until somebody signs in again.",
      yes: "Sign out",
      no: "Stay signed in",
    });
    if (sure) await act(() => json("POST", "/v1/proxy/logout"));
  };

  const show = () => {
    setText(state, inWords(status));
    state.classList.toggle("bad", status?.login?.state === "failed" && !status.account.signed_in);
    fill(body, failure && note("bad", failure.message), ...parts(status, choosing));
    listenTo(body, { begin, cancel, confirm, choose, signOut });
  };
  return {
    card,
    update(told) {
      status = told;
      show();
    },
  };
}

function inWords(status) {
  if (!status) return "One moment…";
  const { account, login, upstream } = status;
  if (login?.state === "starting") return "Asking for a sign-in…";
  if (login?.state === "waiting") return "Waiting for you to sign in.";
  if (login?.state === "confirming") return `Use ${login.account} instead of ${login.replaces}?`;
  if (login?.state === "installing") return "Taking up the login…";
  if (account.signed_in) {
    if (account.type === "api_key") return "Signed in with an OpenAI API key.";
    const who = account.email ? ` as ${account.email}` : "";
    return `Signed in${who}${account.plan ? `, plan ${account.plan}` : ""}.`;
  }
  if (upstream) return `An upstream of your own is used (${upstream}): no login is needed.`;
  if (login?.state === "failed") return `Signing in failed: ${login.message ?? "no reason was given."}`;
  if (account.signed_in === null) return account.reason ?? "Codex has not told yet.";
  if (login?.state === "cancelled") return `Nobody is signed in. ${cancelledInWords(login)}`;
  return "Nobody is signed in.";
}

function cancelledInWords({ message }) {
  return `The sign-in was cancelled${message ? `: ${message}` : ""}.`;
}

/// How the last attempt ended, where there is more to say than who is signed in.
function outcomeNote(login) {
  if (login?.state === "succeeded") return login.message && note("bad", login.message);
  if (login?.state === "failed") {
    return note("bad", `The account stays as it was: signing in failed. ${login.message ?? "No reason was given."}`);
  }
  return login?.state === "cancelled" && note("info", `The account stays as it was. ${cancelledInWords(login)}`);
}

function parts(status, choosing) {
  if (!status) return [];
  const { account, login, upstream } = status;
  if (login?.state === "starting") {
    return [element("div", { class: "row" }, element("button", { type: "button", id: "cancel" }, "Cancel"))];
  }
  if (login?.state === "waiting") return [waitingLogin(login)];
  if (login?.state === "confirming") return [confirmingLogin(login)];
  if (login?.state === "installing") return [];
  if (account.signed_in && choosing) {
    return [
      element("p", {}, "Sign in with the other account. You are asked again before it takes the place of this one."),
      signInChoices(),
      element("div", { class: "row" }, element("button", { type: "button", id: "back" }, "Back")),
    ];
  }
  if (account.signed_in) {
    return [
      outcomeNote(login),
      limits(account),
      element(
        "div",
        { class: "row" },
        element("button", { type: "button", id: "use-another" }, "Use another account"),
        element("button", { type: "button", id: "sign-out" }, "Sign out"),
      ),
    ];
  }
  if (upstream) return [];
  return [login?.state === "failed" && element("p", {}, "You can try again, also in another way."), signInChoices()];
}

/// The elements are made anew whenever they change; what they do is attached here.
function listenTo(body, { begin, cancel, confirm, choose, signOut }) {
  const on = (name, act) => {
    const button = body.querySelector(`#${name}`);
    if (button) button.onclick = act;
  };
  on("device-code", () => begin({ method: "device_code" }));
  on("browser", () => begin({ method: "browser" }));
  on("cancel", cancel);
  on("confirm", confirm);
  on("use-another", () => choose(true));
  on("back", () => choose(false));
  on("sign-out", signOut);
  const form = body.querySelector("form");
  if (form) {
    form.onsubmit = (event) => {
      event.preventDefault();
      begin({ method: "api_key", api_key: form.elements.openai_key.value.trim() });
    };
  }
}
