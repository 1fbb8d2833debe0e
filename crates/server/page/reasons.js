// Why a turn ended, in words.

const STOP = {
  completed: "Answered",
  tool_calls: "Called tools",
  first_call: "Cut after the first call",
  grace: "Cut: no further call came in time",
  call_cap: "Cut at the limit of calls",
  held_text: "Cut: too much text after a call",
  stop_sequence: "Cut at a stop text",
  max_tokens: "Cut at the request's token limit",
  upstream_length: "Cut at the upstream's limit",
  content_filter: "Withheld by the upstream",
  failed_after_calls: "Failed after its calls",
  failed: "Failed",
  cancelled: "Cancelled",
  client_gone: "The client left",
  slow_client: "The client read too slowly",
};

const FAILURE = {
  unauthorized: "nobody is signed in, or the upstream does not take the key",
  usage_limit: "the allowance is used up",
  rate_limit: "too many requests for the upstream",
  context_length: "the conversation does not fit the model",
  bad_request: "the upstream does not take the request",
  model_not_found: "no such model upstream",
  overloaded: "the upstream has no capacity",
  server_error: "the upstream had an internal error",
  unreachable: "the upstream could not be reached",
  stream_cut: "the upstream's stream was cut",
  content_filter: "the rest was withheld",
  max_output: "over the upstream's limit of output",
  child_gone: "Codex was lost",
  untested: "this Codex has failed its canary",
  stopping: "the server was stopping",
  timeout: "it took too long",
  slow_consumer: "the client did not keep up",
  output_too_large: "the output was too large",
  unexpected: "Codex said something unexpected",
};

/// Turns that came to their own end.
const DONE = ["completed", "tool_calls"];

/// What people read, what stands in the log, and whether it is done, cut or bad.
export function whyEnded({ stop_reason: reason, failure, failed }) {
  const words = STOP[reason] ?? reason;
  const kind = failed ? "bad" : DONE.includes(reason) ? "done" : "cut";
  return failure
    ? { words: `${words}: ${FAILURE[failure] ?? failure}`, code: `${reason} (${failure})`, kind }
    : { words, code: reason, kind };
}
