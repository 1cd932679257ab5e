//! The `tandem` program: the whole system on a laptop, its parts as processes, and a client.
//!
//! Exit codes: 0 done, 1 the action, the run or the program failed, 2 bad usage,
//! 130 Ctrl-C while a run was followed. Results go to stdout as JSON, the rest to stderr.

mod client;
mod commands;
mod connections;
mod following;
mod no_action;
mod output;
mod refusal;
mod serve;
mod ui;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::{
    action, approve, background, chat, dev, doctor, dynamodb, foreground, openapi, schema, stop, sweeper, tail,
};

/// Tandem: people and an agent work on one application, through the same actions and the same state.
#[derive(Parser)]
#[command(name = "tandem", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Dev(dev::Args),
    Dynamodb(dynamodb::Args),
    Foreground(foreground::Args),
    Background(background::Args),
    Sweeper(sweeper::Args),
    Action(action::Args),
    Chat(chat::Args),
    Approve(approve::Args),
    Tail(tail::Args),
    Stop(stop::Args),
    Doctor(doctor::Args),
    Openapi(openapi::Args),
    Schema(schema::Args),
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Dev(args) => dev::run(args).await,
        Command::Dynamodb(args) => dynamodb::run(args).await,
        Command::Foreground(args) => foreground::run(args).await,
        Command::Background(args) => background::run(args).await,
        Command::Sweeper(args) => sweeper::run(args).await,
        Command::Action(args) => action::run(args).await,
        Command::Chat(args) => chat::run(args).await,
        Command::Approve(args) => approve::run(args).await,
        Command::Tail(args) => tail::run(args).await,
        Command::Stop(args) => stop::run(args).await,
        Command::Doctor(args) => doctor::run(args).await,
        Command::Openapi(args) => openapi::run(&args),
        Command::Schema(args) => schema::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<output::BadUsage>() => {
            output::say(error);
            ExitCode::from(2)
        }
        Err(error) => {
            output::say(format_args!("tandem: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
