// The models that can be asked, for every view that names some.

import { json } from "./api.js";
import { hasModels, listen, live } from "./live.js";

/// Tells of `change` when it is another one.
class Catalog extends EventTarget {
  /// As the server tells it; empty before the first time.
  known = { default: null, models: [], aliases: [] };

  /// Why it could not be had.
  failure = null;

  /// The state for which it was asked, so that it is not asked for again with every status.
  #askedFor = null;

  constructor() {
    super();
    listen(["status"], () => {
      // Another login may have other models, and there are none before Codex is ready.
      const state = `${live.status.ready} ${hasModels()}`;
      if (state !== this.#askedFor && live.status.ready) this.#load(state);
    });
    // Aliases are settings. `turns` comes first on every connection: it may be another server.
    listen(["settings"], () => this.#load(this.#askedFor));
    listen(["turns"], () => {
      this.#askedFor = null;
    });
  }

  async #load(state) {
    this.#askedFor = state;
    try {
      this.known = await json("GET", "/v1/proxy/models");
      this.failure = null;
    } catch (error) {
      if (error.isAboutTheKey) return;
      this.failure = error;
    }
    this.dispatchEvent(new Event("change"));
  }
}

export const catalog = new Catalog();

/// Models that are not hidden, without `demo`, which is not one of the account's.
export const shownModels = () => catalog.known.models.filter((model) => !model.hidden && model.id !== "demo");
