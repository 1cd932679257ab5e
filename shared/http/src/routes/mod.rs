//! The routes: one file per resource, and one table of them all.

pub(crate) mod actions;
pub(crate) mod agent_chat;
pub(crate) mod approvals;
pub(crate) mod catalogue;
pub(crate) mod events;
pub(crate) mod healthz;
pub(crate) mod mcp;
pub(crate) mod openapi;
pub(crate) mod presence;
pub(crate) mod process_run;
pub(crate) mod resource_metadata;
pub(crate) mod resume;
pub(crate) mod runs;
pub(crate) mod state;
pub(crate) mod state_events;
pub(crate) mod threads;
pub(crate) mod tickets;
pub(crate) mod turns;
pub(crate) mod window;

use crate::route::{Route, Side};

/// Every route: the router serves these and no others, and `/openapi.json` describes them. A new one is a line here,
/// and beside its handler a function that says what it takes and gives. `docs/openapi.json` then shows it after
/// `make types`.
pub(crate) fn table() -> Vec<Route> {
    use Side::{Background, Both, Foreground};
    vec![
        Route::at("/healthz", Both).get(healthz::show, healthz::about()),
        Route::at("/openapi.json", Both).get(openapi::show, openapi::about()),
        Route::at("/.well-known/oauth-protected-resource", Foreground)
            .get(resource_metadata::show, resource_metadata::about_all()),
        Route::at("/.well-known/oauth-protected-resource/mcp", Foreground)
            .get(resource_metadata::show, resource_metadata::about_mcp()),
        Route::at("/api", Foreground).get(catalogue::list, catalogue::about()),
        Route::at("/api/agent-chat", Foreground).post(agent_chat::start, agent_chat::about()),
        Route::at("/api/agent-chat/{id}/stream", Foreground).get(resume::stream, resume::about()),
        Route::at("/api/{action}", Foreground).actions(actions::call),
        Route::at("/mcp", Foreground).post(mcp::serve, mcp::about()),
        Route::at("/runs", Foreground).get(runs::list, runs::about_list()),
        Route::at("/runs/active", Foreground).get(runs::active, runs::about_active()),
        Route::at("/runs/{run}", Foreground).get(runs::show, runs::about_show()),
        Route::at("/runs/{run}/events", Foreground).get(events::follow, events::about()),
        Route::at("/runs/{run}/abort", Foreground).post(runs::abort, runs::about_abort()),
        Route::at("/runs/{run}/approvals/{call}", Foreground).post(approvals::decide, approvals::about()),
        Route::at("/tickets", Foreground).post(tickets::create, tickets::about()),
        Route::at("/events", Foreground).get(window::events, window::about()),
        Route::at("/state/{scope}", Foreground).get(state::snapshot, state::about_snapshot()),
        Route::at("/state/{scope}/events", Foreground).get(state_events::changes, state_events::about()),
        Route::at("/state/{scope}/docs/{*key}", Foreground)
            .get(state::show, state::about_show())
            .put(state::put, state::about_put())
            .delete(state::delete, state::about_delete()),
        Route::at("/presence/{scope}", Foreground)
            .get(presence::show, presence::about_show())
            .put(presence::put, presence::about_put()),
        Route::at("/threads", Foreground)
            .get(threads::list, threads::about_list())
            .post(threads::create, threads::about_create()),
        Route::at("/threads/{thread}", Foreground)
            .get(threads::show, threads::about_show())
            .patch(threads::change, threads::about_change())
            .delete(threads::delete, threads::about_delete()),
        Route::at("/threads/{thread}/turns/{turn}/abort", Foreground).post(turns::abort, turns::about_abort()),
        Route::at("/threads/{thread}/messages", Foreground).get(threads::messages, threads::about_messages()),
        Route::at("/_agent-native/agent-chat/_process-run", Background)
            .post(process_run::process, process_run::about()),
    ]
}
