// Signing in with a browser: the page opens the issuer's, which comes back to the child.
import assert from "node:assert/strict";
import { ask, finish, json, launch, origin, scenario } from "./browser.mjs";

/** Where Codex waits for the browser to come back. */
const CALLBACK = /^http:\/\/(localhost|127\.0\.0\.1):1455\//;

await launch();
const issuer = await ask("url of the issuer");

/** Opens the link of the login as people do, and gives the page that it ends at. */
async function follow(visit) {
  await visit.button("Sign in with a browser").click();
  const link = visit.test("login-link");
  await link.waitFor();
  const [popup] = await Promise.all([visit.context.waitForEvent("page"), link.click()]);
  await popup.waitForLoadState();
  assert.equal(await popup.evaluate(() => window.opener), null);
  return popup;
}

await scenario("a sign-in with a browser can be cancelled", {}, async (visit) => {
  await ask("consent pending");
  const popup = await follow(visit);
  assert((await popup.locator("body").innerText()).includes("Do you want to sign in?"));
  await visit.button("Cancel").click();
  await visit.test("login-link").waitFor({ state: "hidden" });
  assert.equal((await json("/v1/proxy/status")).login.state, "cancelled");
});

await scenario("a refusal is told, and another try signs in", {}, async (visit) => {
  await ask("consent denied");
  const refused = await follow(visit);
  await refused.waitForURL(CALLBACK);
  await visit.until(visit.test("login-state"), /the user said no|failed|denied/i);

  await ask("consent given");
  const popup = await follow(visit);
  await popup.waitForURL(CALLBACK);
  await visit.until(visit.test("login-state"), "me@example.com");
  // What was opened went to the issuer and back, and did not tell from where.
  const elsewhere = visit.elsewhere();
  assert(elsewhere.length >= 4, `${elsewhere.length} requests`);
  for (const request of elsewhere) {
    assert(request.url().startsWith(`${issuer}/`) || CALLBACK.test(request.url()), request.url());
    assert(!(request.headers().referer ?? "").startsWith(origin), request.headers().referer);
  }
  assert.equal((await json("/v1/proxy/status")).account.signed_in, true);
});

await finish();
