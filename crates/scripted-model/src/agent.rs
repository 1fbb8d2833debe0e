//! A coding agent: writes a file, looks at it with two calls in parallel, and reports.
//!
//! The agent uses whatever tools the program in front of it declares, so that one scenario plays the
//! model of many programs. Its progress is the number of results since the user's message.

mod arguments;
mod tools;

use serde_json::Value;

use crate::answer::{Answer, Call, Script};
use crate::scenario::Scene;
use tools::{Kind, Toolbox};

/// The file that the agent writes, and its only line.
const FILE: &str = "agent.txt";
const LINE: &str = "Written by the agent.";
/// Its output is not in the command, so that a report of it proves a round trip.
const COMMAND: &str = "echo answer $((6 * 7))";
/// First words of the report.
const DONE: &str = "The agent is done.";
/// Longest quote of a tool's output in the report.
const LONGEST_QUOTE: usize = 2_000;

/// Plays the agent's next step.
pub(crate) fn agent(scene: &Scene<'_>) -> Script {
    let task = Task::parse(scene.argument().unwrap_or_default());
    let toolbox = Toolbox::new(scene.request.tools());
    let outputs: Vec<String> =
        scene.request.results_of_task().into_iter().map(|result| result.output).collect();
    let steps = Steps { task, toolbox };
    let calls = match outputs.len() {
        0 => steps.write().into_iter().collect(),
        1 => steps.look().into_iter().chain(steps.second_look()).collect(),
        // A client that takes one call at a time is given the other one afterwards.
        2 => steps.second_look().into_iter().collect(),
        _ => Vec::new(),
    };
    if !calls.is_empty() {
        return calls.iter().fold(scene.begin(), Answer::call).completed();
    }
    let report = report(&outputs);
    match steps.end(&report).filter(|_| outputs.len() == 3) {
        Some(call) => scene.begin().call(&call).completed(),
        None => scene.begin().message(&report).completed(),
    }
}

/// The last words, with what the two calls after the first one returned.
fn report(outputs: &[String]) -> String {
    let quotes = outputs.iter().skip(1).take(2).map(|output| {
        let line = output.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("\n- {}", line.chars().take(LONGEST_QUOTE).collect::<String>())
    });
    DONE.to_owned() + &quotes.collect::<String>()
}

/// What a mark's argument asks for: `FOLDER,NAME,{ARGUMENTS}`, each of which may be absent.
#[derive(Debug, Default, PartialEq, Eq)]
struct Task<'a> {
    /// Absolute, for tools that take no relative paths.
    folder: Option<&'a str>,
    /// A tool that has to be called.
    tool: Option<&'a str>,
    /// Its arguments.
    arguments: Option<&'a str>,
}

impl<'a> Task<'a> {
    fn parse(argument: &'a str) -> Self {
        let split = |text: &'a str| match text.split_once(',') {
            Some((first, rest)) => (first.trim(), rest.trim()),
            None => (text.trim(), ""),
        };
        let given = |text: &'a str| Some(text).filter(|text| !text.is_empty());
        let (folder, rest) =
            if argument.trim_start().starts_with('/') { split(argument) } else { ("", argument) };
        let (tool, arguments) = split(rest);
        Self { folder: given(folder), tool: given(tool), arguments: given(arguments) }
    }

    fn path(&self) -> String {
        match self.folder {
            Some(folder) => format!("{}/{FILE}", folder.trim_end_matches('/')),
            None => FILE.to_owned(),
        }
    }
}

/// The calls of each step, with the tools at hand.
struct Steps<'a> {
    task: Task<'a>,
    toolbox: Toolbox<'a>,
}

impl Steps<'_> {
    /// Writes the file, with a tool for that if there is one.
    fn write(&self) -> Option<Call> {
        let path = self.task.path();
        let added = format!("*** Begin Patch\n*** Add File: {path}\n+{LINE}\n*** End Patch\n");
        let command = format!("echo '{LINE}' > {path}");
        let nested = if self.toolbox.nests("apply_patch") {
            format!("text(await tools.apply_patch({}));", Value::from(added.as_str()))
        } else {
            nested_commands(&[&command])
        };
        self.toolbox
            .call(Kind::Patch, &added)
            .or_else(|| self.toolbox.call_with_path(Kind::Write, &path, &format!("{LINE}\n")))
            .or_else(|| self.toolbox.call(Kind::Code, &nested))
            .or_else(|| self.toolbox.call(Kind::Shell, &command))
    }

    /// Reads the file.
    fn look(&self) -> Option<Call> {
        let path = self.task.path();
        let command = format!("cat {path}");
        self.toolbox
            .call_with_path(Kind::Read, &path, "")
            .or_else(|| self.toolbox.call(Kind::Code, &nested_commands(&[&command, COMMAND])))
            .or_else(|| self.toolbox.call(Kind::Shell, &command))
            .or_else(|| self.list())
    }

    /// Calls the tool that the task names, or runs a command.
    fn second_look(&self) -> Option<Call> {
        match self.task.tool {
            Some(name) => self.named(name),
            None => self
                .toolbox
                .call(Kind::Code, &nested_commands(&[COMMAND]))
                .or_else(|| self.toolbox.call(Kind::Shell, COMMAND))
                .or_else(|| self.list())
                .or_else(|| self.toolbox.call_with_path(Kind::Read, &self.task.path(), "")),
        }
    }

    fn list(&self) -> Option<Call> {
        self.toolbox.call_with_path(Kind::List, self.task.folder.unwrap_or("."), "")
    }

    /// A declared tool, or one that code can call.
    fn named(&self, name: &str) -> Option<Call> {
        let nested = || {
            let arguments = self.task.arguments.unwrap_or("{}");
            self.toolbox.call(Kind::Code, &format!("text(await tools.{name}({arguments}));"))
        };
        self.toolbox.call_named(name, self.task.arguments).or_else(nested)
    }

    /// Some programs end only when the model calls a tool for that.
    fn end(&self, report: &str) -> Option<Call> {
        self.toolbox.call(Kind::End, report)
    }
}

/// Code that runs commands at the same time.
fn nested_commands(commands: &[&str]) -> String {
    let calls: Vec<String> = commands
        .iter()
        .map(|command| format!("tools.exec_command({{cmd: {}}})", Value::from(*command)))
        .collect();
    format!("for (const done of await Promise.all([{}])) text(done.output);", calls.join(", "))
}

#[cfg(test)]
mod tests;
