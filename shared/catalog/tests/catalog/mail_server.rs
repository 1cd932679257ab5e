//! A mail server that keeps what it is given.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What becomes of a mail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Manner {
    Accept,
    /// Refuses the recipient.
    Refuse,
    /// Takes the mail and hangs up without a word.
    HangUp,
    /// Does not let anybody in.
    Closed,
}

#[derive(Clone)]
pub(crate) struct MailServer {
    mails: Arc<Mutex<Vec<String>>>,
    address: String,
}

impl MailServer {
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mails: Arc<Mutex<Vec<String>>> = Arc::default();
        let server = MailServer { address: listener.local_addr().unwrap().to_string(), mails };
        let here = server.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let here = here.clone();
                // A client that hangs up is no fault of the test.
                tokio::spawn(async move { drop(here.talk(socket, manner).await) });
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }

    /// What was taken, as it was sent.
    pub(crate) fn mails(&self) -> Vec<String> {
        self.mails.lock().unwrap().clone()
    }

    async fn talk(&self, socket: TcpStream, manner: Manner) -> std::io::Result<()> {
        let (read, mut write) = socket.into_split();
        let mut lines = BufReader::new(read).lines();
        let greeting = if manner == Manner::Closed { "554 closed\r\n" } else { "220 test\r\n" };
        write.write_all(greeting.as_bytes()).await?;
        while let Some(line) = lines.next_line().await? {
            let command = line.split(' ').next().unwrap_or_default().to_uppercase();
            let answer = match command.as_str() {
                "EHLO" => "250 test",
                "RCPT" if manner == Manner::Refuse => "550 nobody of that name",
                "DATA" => {
                    write.write_all(b"354 go on\r\n").await?;
                    let mut mail = String::new();
                    while let Some(line) = lines.next_line().await?.filter(|line| line != ".") {
                        mail.push_str(&line);
                        mail.push('\n');
                    }
                    self.mails.lock().unwrap().push(mail);
                    if manner == Manner::HangUp {
                        return Ok(());
                    }
                    "250 taken"
                }
                "QUIT" => "221 bye",
                _ => "250 ok",
            };
            write.write_all(format!("{answer}\r\n").as_bytes()).await?;
        }
        Ok(())
    }
}
