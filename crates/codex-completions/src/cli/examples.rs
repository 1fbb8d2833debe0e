//! What stands below the help of each command.

pub(super) const ALL: &str = "\
Examples:
  codex-completions serve
  codex-completions ask --model demo \"What is the weather in Paris?\" --tool get_weather
  codex-completions login
  codex-completions doctor

Exit codes: 0 if all is well; 1 if something failed or a check did, with the reason on standard error;
2 if the command line is wrong. Each command has examples of its own: `codex-completions ask --help`.";

pub(super) const SERVE: &str = "\
Examples:
  codex-completions serve
  codex-completions serve --port 8080
  PROXY_LOG=warn codex-completions serve

It says where the page, the API and the key are. Ctrl-C stops it; running answers have some seconds
to end. On a terminal the page's link opens it once, within ten minutes; `status` prints another.";

pub(super) const ASK: &str = "\
Examples:
  codex-completions ask --model demo \"What is the weather in Paris?\" --tool get_weather
  codex-completions ask --effort low < question.txt
  codex-completions ask --model demo Hello --tool '{\"name\": \"now\", \"parameters\": {\"type\": \"object\"}}'
  codex-completions ask \"Plan my day\" --tool @tools.json --json

The calls of an answer are shown, and never run. The exit code is 0 for an answer and for calls.";

pub(super) const LOGIN: &str = "\
Examples:
  codex-completions login
  codex-completions login --device-code
  printenv OPENAI_API_KEY | codex-completions login --with-api-key
  codex-completions login --import
  codex-completions login --import ~/.codex --force

A running server takes up the login by itself. A copied ChatGPT login has the same refresh token as
the other one, which is good for one use: whichever copy uses it first may sign the other out.";

pub(super) const LOGOUT: &str = "\
Examples:
  codex-completions logout

A running server notices it by itself. A login that was copied with --import is forgotten by the
issuer wherever it is.";

pub(super) const STATUS: &str = "\
Examples:
  codex-completions status
  codex-completions status --json
  codex-completions status --refresh

The exit code is 0 whoever is signed in, and whether a server runs or not.";

pub(super) const MODELS: &str = "\
Examples:
  codex-completions models
  codex-completions models --json";

pub(super) const DOCTOR: &str = "\
Examples:
  codex-completions doctor
  codex-completions doctor --port 8080

It needs no running server, and is not in the way of one. Each line begins with \"ok\", \"note\" or
\"FAIL\"; below what is not well stands how to mend it, after \"fix:\". The exit code is 1 if anything
failed.";

pub(super) const CONFIG: &str = "\
Examples:
  codex-completions config
  codex-completions config --json";

pub(super) const SMOKE: &str = "\
Examples:
  codex-completions smoke
  codex-completions smoke --base-url http://127.0.0.1:8080/v1 --key sk-…
  codex-completions smoke --json

The exit code is 1 if any check failed.";

pub(super) const CONFORMANCE: &str = "\
Examples:
  codex-completions conformance --base-url http://127.0.0.1:11435/v1 --api-key sk-… --model demo --scripted
  codex-completions conformance --base-url http://127.0.0.1:4000/v1 --model gpt-4o --html report.html
  codex-completions conformance --base-url http://127.0.0.1:4000/v1 --only 'chat-*' --json

Each rule is passed, failed, or not tested with the reason; below a failed one stands what was seen, and
which clients break. Some rules are advice: what is not followed is shown, and decides nothing. Without
--scripted the model is asked real questions, which may cost tokens, and only the shape of its answers is
judged. The exit code is 0 if no rule failed, 1 if one did, and 2 if nothing could be tested, or not a
rule that --only names.";

pub(super) const TOP: &str = "\
Examples:
  codex-completions top
  codex-completions top | tee turns.txt
  codex-completions top --json --base-url http://127.0.0.1:8080/v1 --key sk-…

On a terminal it draws the turns that run and the last ones that ended, and Ctrl-C leaves. Elsewhere it
prints a line for each turn that ends. It needs the server's own key, shows no content, and waits for
a server that is restarted. Times are UTC.";

pub(super) const COMPLETIONS: &str = "\
Examples:
  source <(codex-completions completions bash)
  codex-completions completions bash > ~/.local/share/bash-completion/completions/codex-completions
  codex-completions completions zsh > ~/.zfunc/_codex-completions
  codex-completions completions fish > ~/.config/fish/completions/codex-completions.fish";
