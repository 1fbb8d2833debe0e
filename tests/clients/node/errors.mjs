// What people see of errors: the message of what a library throws.

import { readFileSync } from "node:fs";

const { BASE_URL, API_KEY } = process.env;
const CASES = JSON.parse(readFileSync(new URL("../errors.json", import.meta.url)));

/** Asks in every case, and prints what a user would see. */
export async function show(library, ask) {
  for (const { name, key = API_KEY, model, content, tools } of CASES) {
    let message;
    try {
      await ask({ baseURL: BASE_URL, key, model, messages: [{ role: "user", content }], tools });
    } catch (error) {
      message = error.message;
    }
    if (message === undefined) {
      throw new Error(`an answer instead of an error: ${name}`);
    }
    console.log(`${library}: ${name}\n  ${message}`);
  }
}
