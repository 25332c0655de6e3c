//! Reference pages made from the code. A test compares them with those in the repository.

use std::fmt::Write as _;

use strum::VariantArray;

use crate::error::{Code, RULE_CODES};
use crate::jsonrpc::code::{RpcCode, TASK_CODES};
use crate::mcp::tools_page;

/// Returns the page that lists every error.
pub fn errors_page() -> String {
    let mut page = String::from(
        "# Errors\n\n\
         Every error response has this shape, with `thread`, `participant` and `kept` if they are \
         known:\n\n\
         ```json\n{\"error\": {\"code\": \"participant_muted\", \"message\": \"…\", \"thread\": \"…\", \"participant\": \"…\"}}\n```\n\n\
         `kept` is the event that keeps a rejected message: nothing that an agent wrote is lost.\n\
         This page is generated from the code; \
         `MOOTHALL_BLESS=1 cargo test -p moothall-surfaces` updates it.\n\n\
         ## Of the server\n\n| status | code | meaning |\n|---|---|---|\n",
    );
    for code in Code::VARIANTS {
        let _ =
            writeln!(page, "| {} | `{}` | {} |", code.status(), <&str>::from(code), code.meaning());
    }
    page.push_str(
        "\n## Of the rules of a conversation\n\n| status | code | meaning |\n|---|---|---|\n",
    );
    for (status, word, meaning) in RULE_CODES {
        let _ = writeln!(page, "| {status} | `{word}` | {meaning} |");
    }
    page.push_str(
        "\n## Over JSON-RPC\n\nAn error is `{\"code\": …, \"message\": …}`, with \
         `data` if there are further facts for programs.\n\n\
         | code | name | default message |\n|---|---|---|\n",
    );
    for code in RpcCode::VARIANTS {
        let _ = writeln!(page, "| {} | `{}` | {} |", code.number(), code.tag(), code.message());
    }
    page.push_str("\n## Of the rules of tasks\n\n| code | word | meaning |\n|---|---|---|\n");
    for (word, code, meaning) in TASK_CODES {
        let _ = writeln!(page, "| {} | `{word}` | {meaning} |", code.number());
    }
    page
}

/// Returns the page that lists every MCP tool.
pub fn mcp_page() -> String {
    tools_page(
        "# MCP tools\n\n\
         At `/mcp` over HTTP, and with `moothall mcp` on standard input and output. \
         Unknown arguments are rejected.\n\
         Errors have the codes of [errors.md](errors.md). [How to use them](../terminals.md).\n\
         This page is generated from the code; \
         `MOOTHALL_BLESS=1 cargo test -p moothall-surfaces` updates it.\n",
    )
}
