//! Which of the server's paths a request means, for those who count.

use std::collections::HashMap;

use crate::metrics::Route;

/// The paths that there are.
#[derive(Debug, Clone)]
pub(crate) struct RouteTable {
    /// Those that are written as they are asked for, which is looked at first.
    plain: HashMap<String, Route>,
    /// Those of the API with a part that stands for any.
    templates: Vec<&'static str>,
}

// === impl RouteTable ===

impl RouteTable {
    pub(crate) fn new(
        api: impl IntoIterator<Item = &'static str>,
        others: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        let (templates, api): (Vec<_>, Vec<_>) =
            api.into_iter().partition(|path| path.contains('{'));
        let of_api =
            |path| [(format!("/v1{path}"), Route::Api(path)), (path.to_owned(), Route::Api(path))];
        let others = others.into_iter().map(|path| (path.to_owned(), Route::Other(path)));
        Self { plain: api.into_iter().flat_map(of_api).chain(others).collect(), templates }
    }

    /// Never more than there are paths, whatever is asked for.
    pub(crate) fn find(&self, path: &str) -> Route {
        let path = path.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(path);
        if let Some(route) = self.plain.get(path) {
            return *route;
        }
        let path = path.strip_prefix("/v1").unwrap_or(path);
        let template = self.templates.iter().find(|template| matches(template, path));
        template.map_or(Route::Unknown, |template| Route::Api(template))
    }
}

/// `{id}` stands for one part of a path that is not empty.
fn matches(template: &str, path: &str) -> bool {
    let (mut expected, mut given) = (template.split('/'), path.split('/'));
    loop {
        match (expected.next(), given.next()) {
            (None, None) => return true,
            (Some(expected), Some(given)) if expected == given => {}
            (Some(expected), Some(given)) if expected.starts_with('{') && !given.is_empty() => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_of_those_there_are_or_unknown() {
        let table =
            RouteTable::new(["/chat/completions", "/models", "/models/{id}"], ["/", "/livez"]);
        for (path, route) in [
            ("/v1/chat/completions", Route::Api("/chat/completions")),
            ("/chat/completions/", Route::Api("/chat/completions")),
            ("/v1/models", Route::Api("/models")),
            ("/models/gpt-5", Route::Api("/models/{id}")),
            ("/v1/models/a/b", Route::Unknown),
            ("/v1/models//", Route::Unknown),
            ("/livez", Route::Other("/livez")),
            ("/v1/livez", Route::Unknown),
            ("/", Route::Other("/")),
            ("", Route::Unknown),
            ("/v1v1/models", Route::Unknown),
            ("/metrics", Route::Unknown),
        ] {
            assert_eq!(table.find(path), route, "{path}");
        }
    }
}
