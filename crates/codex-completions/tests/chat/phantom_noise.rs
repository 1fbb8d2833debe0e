//! Codex asks servers of its own for their resources, and puts the failures into the turn as outputs of
//! calls that nobody made.

use testkit::{codex_binary, write_script};

use crate::asking::{ask, streamed, with_tools};
use crate::proxy::Proxy;
use crate::reply::Reply;

/// The real Codex, which says such an output after every delta and every item of a turn. `NOISE` is a
/// file that counts them.
const NOISY_CODEX: &str = r#"
[ "$1" = app-server ] || exec CODEX "$@"
CODEX "$@" | while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in
        *auto-compact*) continue ;;
        *'"method":"item/agentMessage/delta"'* | *'"method":"rawResponseItem/completed"'*) ;;
        *) continue ;;
    esac
    thread=${line#*'"threadId":"'} turn=${line#*'"turnId":"'}
    echo noise >> NOISE
    printf '{"method":"rawResponseItem/completed","params":{"threadId":"%s","turnId":"%s","item":%s}}\n' \
        "${thread%%'"'*}" "${turn%%'"'*}" \
        '{"type":"function_call_output","id":"fco_1","call_id":"call_probe","output":"resources/list failed: unknown MCP server '"'obsidian'"'"}'
done
"#;

#[tokio::test]
async fn outputs_of_probes_never_reach_a_client() {
    let folder = tempfile::tempdir().unwrap();
    let (codex, noise) = (folder.path().join("codex"), folder.path().join("noise"));
    let quoted = |path: &std::path::Path| format!("'{}'", path.display());
    let script = NOISY_CODEX
        .replace("CODEX", &quoted(codex_binary().await.path()))
        .replace("NOISE", &quoted(&noise));
    write_script(&codex, &script);
    let proxy = Proxy::start(&[("CODEX_BIN", codex.to_str().unwrap())]).await;
    let mut said = 0;
    for (mark, calls) in [("[[text]]", 0), ("[[parallel:2]]", 2), ("[[mixed-reasoning]]", 2)] {
        let request = with_tools(ask(mark));
        for mode in ["openai-json", "obsidian-xml"] {
            for request in [streamed(request.clone()), request.clone()] {
                let answer = proxy.chat_with(&request, &[("x-proxy-output-mode", mode)]).await;
                assert!(!answer.body.contains("resources/list"), "{}", answer.body);
                assert!(!answer.body.contains("call_probe"), "{}", answer.body);
                let reply = Reply::of(&answer);
                assert_eq!(reply.choice().calls.len(), calls);
                if calls == 0 {
                    assert_eq!(reply.choice().text(), "Hello from the scripted model.");
                }
                let before = std::mem::replace(&mut said, count(&noise));
                assert!(said > before, "there is no noise");
            }
        }
    }
}

fn count(noise: &std::path::Path) -> usize {
    std::fs::read_to_string(noise).unwrap_or_default().lines().count()
}
