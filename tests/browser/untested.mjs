// A Codex that has failed its canary: the promise is named, and the model demo can be asked.
import { finish, launch, scenario } from "./browser.mjs";

await launch();

await scenario("a broken promise is named", {}, async (visit) => {
  const main = visit.page.locator("main");
  await visit.until(main, "This Codex has failed its canary: only the model demo can be asked.");
  await visit.until(main, 'Breaks the promise no_own_text: it adds to the prompt: "You are Codex"');
});

await finish();
