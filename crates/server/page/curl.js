// A request of the playground as a command for a terminal.

/// The key stays out of it: a command lands in a shell's history.
export function asCurl(url, body) {
  const quoted = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return [
    "# KEY is the server's key; it names the file when it starts, usually:",
    "#   export KEY=$(cat ~/.local/share/codex-completions/api-key)",
    `curl -N ${url} \\`,
    '  -H "Authorization: Bearer $KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '${quoted}'`,
  ].join("\n");
}
