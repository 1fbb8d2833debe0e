// Putting an answer together from the chunks of a chat completion's stream.

/// What there is of an answer so far. `take` says what a chunk has brought.
export class AnswerParts {
  text = "";
  refusal = "";
  reasoning = "";

  /// `{id, name, arguments}` by their index. The first frame of a call has its id and name, further ones
  /// more of its arguments.
  calls = [];
  finishReason = null;
  usage = null;

  /// An error that came after the stream had begun.
  error = null;

  /// Yields `{kind: "text" | "refusal" | "reasoning", added}`, `{kind: "call", index}` and `{kind: "error"}`.
  *take(chunk) {
    if (chunk.error) {
      this.error = chunk.error;
      yield { kind: "error" };
      return;
    }
    if (chunk.usage) this.usage = chunk.usage;
    const choice = chunk.choices?.[0];
    if (!choice) return;
    const { content, refusal, reasoning_content: reasoning, tool_calls: calls } = choice.delta ?? {};
    if (reasoning) {
      this.reasoning += reasoning;
      yield { kind: "reasoning", added: reasoning };
    }
    if (content) {
      this.text += content;
      yield { kind: "text", added: content };
    }
    if (refusal) {
      this.refusal += refusal;
      yield { kind: "refusal", added: refusal };
    }
    for (const call of calls ?? []) {
      this.calls[call.index] ??= { id: "", name: "", arguments: "" };
      const known = this.calls[call.index];
      if (call.id) known.id = call.id;
      known.name += call.function?.name ?? "";
      known.arguments += call.function?.arguments ?? "";
      yield { kind: "call", index: call.index };
    }
    if (choice.finish_reason) this.finishReason = choice.finish_reason;
  }

  /// As it stands in the history of the next request.
  toMessage() {
    const message = { role: "assistant", content: this.text || null };
    if (this.refusal) message.refusal = this.refusal;
    if (this.calls.length > 0) {
      message.tool_calls = this.calls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: call.arguments },
      }));
    }
    return message;
  }
}
