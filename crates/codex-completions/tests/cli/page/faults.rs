//! The page while its server has trouble.

use testkit::process::signal;

use super::alone;
use crate::browser::{KEY, drive};
use crate::impostor::Impostor;
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

#[tokio::test]
async fn row_19b_an_impostor_at_the_pages_address_gets_no_key() {
    let user = User::new().await;
    let port = free_port();
    let start = || {
        let mut command = user.command(&["serve", "--port", &port.to_string()]);
        command.env("PROXY_API_KEY", KEY);
        Server::spawn(command)
    };
    let mut server = Some(start());
    let mut impostor = None;
    let address = server.as_ref().unwrap().address.clone();
    drive("impostor.mjs", &address, |wish| {
        match wish {
            "put an impostor in the place of the server" => {
                drop(server.take());
                impostor = Some(Impostor::start("127.0.0.1", port, None));
            }
            "what the impostor has received" => {
                return impostor.take().unwrap().end().replace('\n', " ");
            }
            "start the server again" => {
                drop(server.take());
                server = Some(start());
            }
            _ => return alone(wish),
        }
        String::new()
    });
}
