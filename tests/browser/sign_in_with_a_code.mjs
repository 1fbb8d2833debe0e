// Signing in with a code: the real child, and an issuer whose user does what the test says.
import assert from "node:assert/strict";
import { ask, finish, json, launch, scenario } from "./browser.mjs";

await launch();

async function begin(visit) {
  await visit.button("Sign in with a code").click();
  await visit.until(visit.test("device-code"), "ABCD-12345");
}

await scenario("a sign-in with a code can be cancelled", {}, async (visit) => {
  await ask("consent pending");
  await begin(visit);
  const link = visit.test("login-link");
  assert.equal(await link.getAttribute("href"), `${await ask("url of the issuer")}/codex/device`);
  assert.equal(await link.getAttribute("target"), "_blank");
  assert.match(await link.getAttribute("rel"), /noopener/);
  assert.equal((await json("/v1/proxy/status")).login.state, "waiting");

  // Another window shows the same, and so does this one when it is loaded anew.
  await visit.page.reload();
  await visit.until(visit.test("device-code"), "ABCD-12345");

  await visit.button("Cancel").click();
  await visit.test("device-code").waitFor({ state: "hidden" });
  await visit.button("Sign in with a code").waitFor();
  assert.equal((await json("/v1/proxy/status")).login.state, "cancelled");
});

await scenario("a refusal is told with its reason, and another try signs in", {}, async (visit) => {
  await ask("consent denied");
  await visit.button("Sign in with a code").click();
  await visit.until(visit.test("login-state"), "device auth failed");
  assert.equal((await json("/v1/proxy/status")).login.state, "failed");

  await ask("consent pending");
  await begin(visit);
  await ask("consent given");
  await visit.until(visit.test("login-state"), "me@example.com");
  await visit.until(visit.test("login-state"), /plus/i);
  await visit.test("device-code").waitFor({ state: "hidden" });
});

await scenario("the limits are shown with the times of their reset", {}, async (visit) => {
  const limits = visit.test("limits");
  await visit.until(limits, "12");
  await visit.until(limits, "40");
  await visit.until(limits, /resets? /);
  const bars = limits.locator("progress, meter, [role=progressbar], [role=meter]");
  const { primary, secondary } = (await json("/v1/usage")).account;
  assert.deepEqual([primary.used_percent, secondary.used_percent], [12, 40]);
  assert.equal(await bars.count(), 2);
});

await scenario("a message that Codex adds for the account is named", {}, async (visit) => {
  await visit.until(visit.page.locator("main"), "The account has Codex add a message about the attribution of commits");
});

await scenario("the real models are offered once somebody is signed in", {}, async (visit) => {
  await visit.view("Playground");
  const { models, default: preferred } = await json("/v1/proxy/models");
  const options = await visit.field("Model").locator("option").allTextContents();
  for (const { id, hidden } of models.filter((model) => !model.hidden)) {
    assert(
      options.some((option) => option.includes(id)),
      `${id} ${hidden}: ${options}`,
    );
  }
  assert(preferred);
});

/** Signs in as another account, up to the question whether it is wanted. */
async function asAnother(visit) {
  await ask("consent as another account");
  await visit.button("Use another account").click();
  await visit.button("Sign in with a code").click();
  await visit.until(visit.test("new-account"), "you@example.com");
  await visit.until(visit.test("present-account"), "me@example.com");
  assert.equal((await json("/v1/proxy/status")).account.email, "me@example.com");
}

await scenario("the ways to sign in are shown on request, and left again", {}, async (visit) => {
  await visit.button("Use another account").click();
  await visit.button("Sign in with a browser").waitFor();
  await visit.button("Back").click();
  await visit.button("Sign out").waitFor();
  await visit.button("Sign in with a browser").waitFor({ state: "hidden" });
});

await scenario("an attempt that failed is shown beside the account", {}, async (visit) => {
  await ask("consent denied");
  await visit.button("Use another account").click();
  await visit.button("Sign in with a code").click();
  await visit.until(visit.alert(), "device auth failed");
  await visit.until(visit.test("login-state"), "me@example.com");
});

await scenario("another account can be declined", {}, async (visit) => {
  await asAnother(visit);
  // Another window asks the same.
  await visit.page.reload();
  await visit.until(visit.test("login-state"), "Use you@example.com instead of me@example.com?");
  await visit.button("Keep the present one").click();
  await visit.until(visit.test("login-state"), "me@example.com, plan plus");
  await visit.page.getByText("The account stays as it was. The sign-in was cancelled.").waitFor();
  assert.equal((await json("/v1/proxy/status")).account.email, "me@example.com");
});

await scenario("another account is used once it is confirmed", {}, async (visit) => {
  await asAnother(visit);
  await visit.button("Use this account").click();
  await visit.until(visit.test("login-state"), "you@example.com, plan pro");
  assert.equal((await json("/v1/proxy/status")).account.email, "you@example.com");
});

await scenario("signing out is confirmed first", {}, async (visit) => {
  await visit.button("Sign out").click();
  const dialog = visit.page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Stay signed in", exact: true }).click();
  await dialog.waitFor({ state: "hidden" });
  await visit.until(visit.test("login-state"), "you@example.com");

  await visit.button("Sign out").click();
  await dialog.getByRole("button", { name: "Sign out", exact: true }).click();
  await visit.button("Sign in with a code").waitFor();
  assert.equal((await json("/v1/proxy/status")).account.signed_in, false);
});

await scenario("an API key signs in", {}, async (visit) => {
  await visit.page.getByText("Use an OpenAI API key instead").click();
  await visit.field("OpenAI key").fill("sk-of-the-owner");
  await visit.button("Use this key").click();
  await visit.button("Sign out").waitFor();
  assert.equal((await json("/v1/proxy/status")).account.signed_in, true);
  assert(!(await visit.page.content()).includes("sk-of-the-owner"));
});

await finish();
