// Requests to the server this page came from, with the token of the session.

import * as session from "./session.js";

/// An answer that is an error in OpenAI's shape, or as near to it as it was.
export class ApiError extends Error {
  constructor(status, error, requestId) {
    super(error.message);
    this.status = status;
    this.code = error.code ?? null;
    this.type = error.type ?? null;
    this.param = error.param ?? null;
    this.requestId = requestId;
  }

  /// Whether the key, the session or the page's name for a run is the reason.
  get isAboutTheKey() {
    return ["invalid_api_key", "owner_key_required", "host_not_allowed"].includes(this.code);
  }
}

/// The response, if it is a success. Sent with the session of this tab, or `as` another credential.
export async function send(method, path, { body, signal, as = session.current() } = {}) {
  const headers = { authorization: `Bearer ${as}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(path, {
    method,
    headers,
    signal,
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
  });
  if (!response.ok) throw await errorOf(response);
  return response;
}

export async function json(method, path, body) {
  return (await send(method, path, { body })).json();
}

async function errorOf(response) {
  const requestId = response.headers.get("x-request-id");
  const text = await response.text();
  try {
    const { error } = JSON.parse(text);
    if (error?.message) return new ApiError(response.status, error, requestId);
  } catch {
    // Something between here and the server may answer in words of its own.
  }
  const message = text.trim().slice(0, 300) || `The answer was ${response.status} without a word.`;
  return new ApiError(response.status, { message }, requestId);
}
