//! The page while its server has trouble.

use testkit::process::signal;

use super::alone;
use crate::browser::{KEY, drive};
use crate::server::{Server, free_port};
use crate::user::User;

#[tokio::test]
async fn a_lost_child_and_a_lost_server_are_told_and_found_again() {
    let user = User::new().await;
    let port = free_port().to_string();
    let start = || {
        let mut command = user.command(&["serve", "--port", &port]);
        command.env("PROXY_API_KEY", KEY);
        Server::spawn(command)
    };
    let mut server = Some(start());
    let address = server.as_ref().unwrap().address.clone();
    drive("faults.mjs", &address, |wish| {
        match wish {
            "kill the child" => signal(server.as_ref().unwrap().children()[0], "-KILL"),
            "stop the server" => drop(server.take()),
            "start the server" => server = Some(start()),
            _ => return alone(wish),
        }
        String::new()
    });
}
